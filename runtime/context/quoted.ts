/** Text as it stands inside an element: nothing in it can end the element or begin another one. */
export function quoted(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
