/** What is known of one request that was given to a connection, beside its answer. */
export class RequestFate {
  /** The status with which the server answered it over HTTP. */
  status: number | null = null;
  /** It cannot have reached the server. */
  isUnsent = false;
  /** Its answer broke off, and nothing more is waited for. */
  isBroken = false;
  /** By which the server lets an answer that broke off be read on. */
  resumeToken: string | null = null;
  failedResumes = 0;
  /** Resolves when no answer can come any more. */
  readonly lost: Promise<void>;
  lose: () => void = () => undefined;

  constructor() {
    this.lost = new Promise((resolve) => {
      this.lose = resolve;
    });
  }
}
