/** A server that is started as a process of its own, and talked to over its standard input and output. */
export interface McpStdio {
  /** The program: a path, or a name that is looked up in `PATH`. No shell reads it. */
  command: string;
  args?: readonly string[];
  /** Added to HOME, LOGNAME, PATH, SHELL, TERM and USER: nothing else of this process's environment is passed on. */
  env?: Readonly<Record<string, string>>;
  /** Its working directory. Default: that of this process. */
  cwd?: string;
  /** What becomes of its standard error: thrown away (default), or written to that of this process. */
  stderr?: 'ignore' | 'inherit';
}

/** A server that is reached by streamable HTTP. */
export interface McpHttp {
  /** Without name and password: they belong into `headers`. */
  url: string | URL;
  /** Sent with each request, for example `authorization`. */
  headers?: Readonly<Record<string, string>>;
  /** In place of the global `fetch`: for a proxy, certificates, tokens that change, or calls that say nothing for more than five minutes. */
  fetch?: typeof fetch;
}
