import { parentChannel } from '../support/child-channel.ts';

const channel = parentChannel();
await channel.say('ready', { pid: process.pid });
for (;;) {
  const { text } = await channel.hear('question');
  await channel.say('answer', { text });
}
