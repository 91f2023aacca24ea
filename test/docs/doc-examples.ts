import { globSync, readFileSync } from 'node:fs';

/** What the examples in doc comments take as given: every public name, and a few things of the reader's own. */
const PRELUDE = `import * as index from 'turnlock';
import * as machines from 'turnlock/machines';
import { pglite } from 'turnlock/pglite';
import { postgres } from 'turnlock/postgres';
import { scripted } from 'turnlock/scripted';
import { aiSdk, aiSdkEmbedder, fromAiSdk } from 'turnlock/ai-sdk';
import { httpHandler, type Identity, serve } from 'turnlock/http';
import { inspector, type InspectorOptions } from 'turnlock/inspector';
import { mcp } from 'turnlock/mcp';
import { statelyInspector } from 'turnlock/stately';
import { openTelemetry } from 'turnlock/telemetry';
import type { EmbeddingModel, LanguageModel, ToolSet } from 'ai';
import { z } from 'zod';
const { createRuntime, defineAgent, defineTool, inProcessDeltas, isTurnlockError, ToolError, versioned } = index;
const { nextSnapshot, initialSnapshot, beginFold, foldTransitions, SESSION_MACHINE_VERSION } = machines;
declare const events: machines.SessionEvent[];
declare const support: index.Agent;
declare const session: index.Session;
declare const runtime: index.Runtime;
declare function identityOf(authorization: string | null): Identity | null;
declare const messageId: string;
declare const answer: Response;
declare const lookup: ToolSet[string];
declare const refund: ToolSet[string];
declare const openai: ((model: string) => LanguageModel) & { embeddingModel(model: string): EmbeddingModel };
declare function whoIs(request: Request): ReturnType<NonNullable<InspectorOptions['authenticate']>>;
declare function retryLater(): Promise<void>;
`;

const COMMENT = /\/\*\*[\s\S]*?\*\//g;
const EXAMPLE = /^ *\* @example\n((?: *\*(?! @| *\/).*\n)+)/m;

/** The examples in doc comments of the product, each as a program of its own, by the path of its source. */
export function docExamples(): Record<string, string> {
  const paths = globSync(['*.ts', '{machines,persistence,adapters,runtime}/**/*.ts']).sort();
  const programs: Record<string, string> = {};
  for (const path of paths) {
    const comments = readFileSync(path, 'utf8').match(COMMENT) ?? [];
    const examples = comments.flatMap((comment) => EXAMPLE.exec(comment)?.[1] ?? []);
    examples.forEach((example, index) => {
      const code = example.replace(/^ *\* ?/gm, '');
      programs[`${path.replace(/\.ts$/, '')}-${index + 1}.ts`] = `${PRELUDE}{\n${code}}\n`;
    });
  }
  return programs;
}
