import type { SharedOptions } from '../shared-options.ts';

/** What `turnlock chat` takes. */
export interface ChatOptions extends SharedOptions {
  /** A module that exports agents. */
  agent?: string;
  /** Which of several agents. */
  name?: string;
  model?: string;
  /** The external id of a conversation. */
  session?: string;
  new?: boolean;
  tenant: string;
  user: string;
}

/** Where conversations are kept where nothing else is said: beside the user's own files, out of sight. */
export const CHAT_FOLDER = '.turnlock';
