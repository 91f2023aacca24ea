import type { SessionState } from '../../../machines/session-state.ts';

/** A state of the session machine, and where it is drawn. */
export interface ChartState {
  readonly state: SessionState;
  readonly x: number;
  readonly y: number;
  /** The events that it takes without leaving. */
  readonly loops: readonly string[];
}

/** A legal way from one state to another one, and how it is drawn. */
export interface ChartEdge {
  readonly from: SessionState;
  readonly to: SessionState;
  /** The events that lead there. */
  readonly on: readonly string[];
  /** The line, as SVG's path data. */
  readonly path: string;
  /** The head of its arrow, as SVG's path data. */
  readonly head: string;
}

/** A statechart that is laid out; all lengths in units of its own, which are pixels where it is drawn at its size. */
export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  /** Of each state. */
  readonly stateWidth: number;
  readonly stateHeight: number;
  readonly states: readonly ChartState[];
  readonly edges: readonly ChartEdge[];
}
