import type { AiSdkSettings } from './ai-sdk-settings.ts';

/**
 * Tells the application what the provider could not honour. The answer counts whatever becomes of that: nothing is waited for, and what
 * `onWarnings` throws, at once or later, is a warning of the process.
 */
export function tellWarnings(onWarnings: AiSdkSettings['onWarnings'], warnings: readonly unknown[]): void {
  if (onWarnings === undefined || warnings.length === 0) return;
  const told = (async () => onWarnings(warnings))();
  told.catch(warn).catch(() => undefined);
}

function warn(thrown: unknown): void {
  const what = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : typeof thrown;
  process.emitWarning(`onWarnings of aiSdk threw, which changes nothing: ${what}`, { type: 'Turnlock' });
}
