import { BASE } from './base.ts';
import { FORMS } from './forms.ts';
import { PARTS } from './parts.ts';
import { SESSION } from './session.ts';
import { TOKENS } from './tokens.ts';

/** The one stylesheet. Pages hold no style of their own: their policy lets none through. */
export const STYLES = [TOKENS, BASE, PARTS, FORMS, SESSION].join('\n');
