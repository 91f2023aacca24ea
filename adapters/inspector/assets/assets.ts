import { sha256Hex } from '../../../persistence/keys/sha256-hex.ts';
import { STYLES } from '../styles/styles.ts';
import { FOLLOW_SCRIPT } from './follow-script.ts';
import { LIVE_SCRIPT } from './live-script.ts';

/** A file that pages name. */
interface Asset {
  type: string;
  text: string;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#5b6cff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"><path d="M7 10V7a5 5 0 0 1 10 0v3"/><rect x="4" y="10" width="16" height="11" rx="2.5"/><path d="M9.5 15.5l2 2 3.5-4"/></svg>`;

const ASSETS = {
  'inspector.css': { type: 'text/css; charset=utf-8', text: STYLES },
  'live.js': { type: 'text/javascript; charset=utf-8', text: LIVE_SCRIPT },
  'follow.js': { type: 'text/javascript; charset=utf-8', text: FOLLOW_SCRIPT },
  'icon.svg': { type: 'image/svg+xml', text: ICON },
} as const satisfies Record<string, Asset>;

/** Path of each file: it holds a digest of the content, so that a browser keeps it for good and never shows an old one. */
const PATHS = new Map(
  Object.entries(ASSETS).map(([name, { text }]) => {
    const [stem = '', ending = ''] = name.split('.');
    return [name, `/assets/${stem}.${sha256Hex(text).slice(0, 16)}.${ending}`] as const;
  }),
);

const BY_PATH: ReadonlyMap<string, Asset> = new Map(
  Object.entries(ASSETS).map(([name, asset]) => [assetPath(name as keyof typeof ASSETS), asset]),
);

/** The path of a file, below the base path. */
export function assetPath(name: keyof typeof ASSETS): string {
  return PATHS.get(name) as string;
}

/** The file at a path; `null` where there is none, as for the digest of another build. */
export function assetAt(path: string): Response | null {
  const asset = BY_PATH.get(path);
  if (asset === undefined) return null;
  const headers = { 'content-type': asset.type, 'cache-control': 'public, max-age=31536000, immutable' };
  return new Response(asset.text, { headers });
}
