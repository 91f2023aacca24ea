/** The headers of the page: it shows one other page, and speaks with this server alone. */
export function pageHeaders(page: URL, nonce: string): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      `frame-src ${page.origin}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}

/**
 * The page that hands what the relay says to `page` in its frame, once that says that it is ready, and to nobody else. It takes its token
 * from its own address.
 */
export function relayPage(page: URL, nonce: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Turnlock in the Stately inspector</title>
<style nonce="${nonce}">html, body { height: 100%; margin: 0 } iframe { width: 100%; height: 100%; border: 0; display: block }</style>
<iframe id="page" title="Inspector" src="${escapeHtml(page.href)}"></iframe>
<script nonce="${nonce}">
const frame = document.getElementById('page');
const origin = ${JSON.stringify(page.origin).replaceAll('<', '\\u003c')};
let waiting = [];
let isReady = false;
const hand = (message) => frame.contentWindow.postMessage(message, origin);
addEventListener('message', ({ source, origin: from, data }) => {
  if (source !== frame.contentWindow || from !== origin || !data || data.type !== '@statelyai.connected') return;
  isReady = true;
  for (const message of waiting) hand(message);
  waiting = [];
});
const socket = new WebSocket('ws://' + location.host + '/' + location.search);
socket.addEventListener('message', ({ data }) => {
  const message = JSON.parse(data);
  if (isReady) return hand(message);
  waiting.push(message);
  if (waiting.length > 1000) waiting.shift();
});
</script>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
