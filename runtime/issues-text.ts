import type { StandardSchemaV1 } from '@standard-schema/spec';

/** What a validator objects to, for a model and for people: each issue with its path. */
export function issuesText(issues: readonly StandardSchemaV1.Issue[]): string {
  return issues.map((issue) => `${pathOf(issue.path)}: ${issue.message}`).join('; ');
}

function pathOf(path: readonly unknown[] | undefined): string {
  const keys = (path ?? []).map((part) =>
    typeof part === 'object' && part !== null && 'key' in part ? part.key : part,
  );
  return `/${keys.map(String).join('/')}`;
}
