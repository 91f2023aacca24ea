const MAX_CHARACTERS = 300;

/** Keys of the well-known makers, `Bearer …`, and anything long enough to be one: a run that mixes letters and digits. */
const SECRETS =
  /\b(?:sk|pk|rk|gsk|xai|key|token|api[-_]?key)[-_:=]+\s*\S{6,}|\bBearer\s+\S+|\bAIza\S+|(?=[\w+/=*-]*\d)(?=[\w+/=*-]*[A-Za-z])[\w+/=*-]{32,}/gi;

/** Name and password before the host of a URL, of any scheme. */
const URL_CREDENTIALS = /([a-z][a-z\d+.-]*:\/\/)[^\s/?#"'<>]+@/gi;

/** Characters from which on a part of a secret, for example what follows `Bearer `, is one by itself. Shorter ones are words. */
const MIN_PART_CHARACTERS = 8;

/**
 * What a provider wrote, for people: in one line, cut, without what may be a key, without the credentials of URLs, and without `secrets`
 * and each long part of them, since of `Bearer …` a provider repeats only what follows.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  const without = knownOf(secrets).reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text);
  const line = without
    .replace(URL_CREDENTIALS, '$1[removed]@')
    .replace(SECRETS, '[removed]')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...line];
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join('')} …` : line;
}

/** The longest first: one that is removed must not leave the rest of another that holds it. */
function knownOf(secrets: readonly string[]): string[] {
  const whole = secrets.filter((secret) => secret.length >= 4);
  const parts = whole.flatMap((secret) => secret.split(/\s+/)).filter((part) => part.length >= MIN_PART_CHARACTERS);
  return [...whole, ...parts].sort((one, other) => other.length - one.length);
}
