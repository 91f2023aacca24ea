/** What Turnlock itself promises, in words: held against every run of the kit, whatever the tools are. docs/invariants.md says the same. */
export const PROMISE_NAMES = {
  rests: 'once nothing goes wrong any more, everything comes to rest',
  runtime: 'nothing breaks in the runtime itself',
  denied: 'a denied call never runs',
  attempt: 'an attempt runs once',
  repeated: 'what may not be repeated is not repeated',
  writer: 'one session has one writer at a time',
  lease: 'whoever rests holds no lease',
  open: 'a session at rest has no open call',
  version: 'every version has its transition',
  answered: 'every call is answered, once',
  message: 'no message waits for ever',
  evidence: 'no late result is forgotten',
  audit: 'the audit is whole',
} as const;
