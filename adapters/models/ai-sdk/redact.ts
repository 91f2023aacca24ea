const MAX_CHARACTERS = 300;

/** Keys of the well-known makers, `Bearer …`, and anything long enough to be one: a run that mixes letters and digits. */
const SECRETS =
  /\b(?:sk|pk|rk|gsk|xai|key|token|api[-_]?key)[-_:=]+\s*\S{6,}|\bBearer\s+\S+|\bAIza\S+|(?=[\w+/=*-]*\d)(?=[\w+/=*-]*[A-Za-z])[\w+/=*-]{32,}/gi;

/** What a provider wrote, for people: in one line, cut, without what may be a key, and without `secrets`. */
export function redact(text: string, secrets: readonly string[] = []): string {
  const known = secrets.filter((secret) => secret.length >= 4);
  const without = known.reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text);
  const line = without.replace(SECRETS, '[removed]').replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join('')} …` : line;
}
