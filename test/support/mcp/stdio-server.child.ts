import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { worldServer } from './world-server.ts';

/** An MCP server on standard input and output. Arguments: its folder, then `deaf` (reads and says nothing) or `stubborn` (outlives its input and SIGTERM). */

const [folder = '', kind] = process.argv.slice(2);
process.stderr.write('a secret of the server\n');
if (kind === 'deaf') {
  process.stdin.resume();
} else {
  if (kind === 'stubborn') {
    process.on('SIGTERM', () => undefined);
    // It must end even so, should whoever started it be gone.
    setTimeout(() => process.exit(), 60_000);
  } else {
    process.stdin.on('end', () => process.exit());
  }
  await worldServer(folder).connect(new StdioServerTransport());
}
