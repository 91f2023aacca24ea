import type { McpSettings } from './mcp-settings.ts';

/** Tells the application, or the process where nobody is named. What the caller's function throws, at once or later, changes nothing. */
export function unfailingWarning(onWarning: McpSettings['onWarning']): (code: string, message: string) => void {
  if (onWarning === undefined) return (code, message) => process.emitWarning(message, { type: 'Turnlock', code });
  return (code, message) => {
    const told = (async () => onWarning({ code, message }))();
    told.catch(() => process.emitWarning('onWarning of mcp threw', { type: 'Turnlock', code: 'ON_WARNING_FAILED' }));
  };
}
