#!/usr/bin/env node
import { checkNode } from './check-node.ts';

checkNode();
const { runCli } = await import('./run-cli.ts');

// Ends the process whatever a configuration has left open: a pool of its own, a timer.
process.exit(await runCli(process.argv.slice(2)));
