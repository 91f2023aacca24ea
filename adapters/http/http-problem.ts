import { type Problem, type RequestErrorCode, requestProblem } from './problem.ts';

/** What is wrong with a request: thrown by a route, answered as its problem. */
export class HttpProblem extends Error {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: RequestErrorCode,
    detail: string,
    hint: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.problem = requestProblem(status, code, detail, hint);
    this.headers = headers;
  }
}
