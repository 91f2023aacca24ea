import { setTimeout as sleep } from 'node:timers/promises';
import { parentChannel } from '../../support/child-channel.ts';

/** A scene that stands still is one that saw something else than it should. */
const PATIENCE_MS = 15_000;

/** What is to be played: the module of the scenes in a copy of the sources, and the scene's name. */
const plays = JSON.parse(process.argv[2] as string) as { scenes: string; stage: string; url: string; scene: string }[];

const { say } = parentChannel();
for (const play of plays) {
  const { Stage } = (await import(play.stage)) as typeof import('./process.ts');
  const { scenes } = (await import(play.scenes)) as typeof import('./scenes.ts');
  const stage = new Stage(play.url);
  await stage.open();
  const played = scenes[play.scene]!(stage).catch((error: unknown) => {
    return `broke: ${error instanceof Error ? error.stack : String(error)}`;
  });
  const over = sleep(PATIENCE_MS, 'stood still', { ref: false });
  const seen = await Promise.race([played, over]);
  await say('played', { seen: seen ?? null });
  if (seen !== 'stood still') await stage.close();
}
process.exit();
