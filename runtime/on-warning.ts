import { normaliseError } from '../persistence/values/normalise-error.ts';

/** What a host is told of what goes wrong and passes. */
export type OnWarning = (warning: { code: string; message: string }) => void;

/** What is told where a host says nothing else. */
export function emitWarning({ code, message }: Parameters<OnWarning>[0]): void {
  process.emitWarning(message, { type: 'Turnlock', code });
}

/** What the caller's function throws, at once or later, is a warning of its own: it must neither stop a runtime nor end the process. */
export function unfailing(onWarning: OnWarning): OnWarning {
  const failed = (error: unknown): void => {
    emitWarning({ code: 'ON_WARNING_FAILED', message: `onWarning threw: ${normaliseError(error).message}` });
  };
  return (warning) => {
    try {
      void Promise.resolve(onWarning(warning) as unknown).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
