/** The entry turnlock/inspector: a page to watch sessions on, as a web-standard fetch handler. */
export { inspector } from './inspector.ts';
export type { InspectorOptions } from './inspector-options.ts';
export type { Viewer } from './viewer.ts';
