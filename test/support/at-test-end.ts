import { afterAll, onTestFinished } from 'vitest';

type Ending = () => Promise<void> | void;

const endings: Ending[] = [];

/**
 * Runs the ending when the current test ends, whatever its result; called outside a test (beforeAll, top level) when the
 * test file ends. Endings run in reverse order, and one that throws fails the test.
 */
export function atTestEnd(ending: Ending): void {
  try {
    onTestFinished(ending);
  } catch {
    endings.push(ending);
  }
}

/** Called once per test file by the set-up file. */
export function runEndingsAfterFile(): void {
  afterAll(async () => {
    for (let ending = endings.pop(); ending; ending = endings.pop()) await ending();
  });
}
