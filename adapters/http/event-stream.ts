import { type Environment, systemEnvironment } from '../../environment.ts';

/** How an event stream is sent. */
export interface EventStreamOptions {
  /** Ends what the messages come from; aborted when the reader has gone. */
  ends: AbortController;
  heartbeatMs: number;
  headers?: Readonly<Record<string, string>>;
  environment?: Environment;
  /** Told what the messages throw; the stream ends then, and its reader comes back. */
  onError: (error: unknown) => void;
}

/** One message of an event stream (HTML standard, section 9.2). `data` is JSON, which holds no line break. */
export function toMessage({ event, id, data }: { event?: string; id?: number; data: unknown }): string {
  const fields = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `data: ${JSON.stringify(data)}`,
  ];
  return `${fields.join('\n')}\n\n`;
}

/**
 * The response that sends messages as they come. Nothing is made before the reader takes it, so a slow one costs no memory; while it waits
 * it is sent a comment every `heartbeatMs`.
 */
export function eventStream(messages: AsyncGenerator<string, void>, options: EventStreamOptions): Response {
  const { ends, heartbeatMs, headers = {}, environment = systemEnvironment, onError } = options;
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string, void>> | null = null;
  let isOpen = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isOpen) {
          isOpen = true;
          return controller.enqueue(encoder.encode(': open\n\n'));
        }
        next ??= messages.next();
        const over = new AbortController();
        try {
          const beat = environment.sleep(heartbeatMs, over.signal).then(
            () => null,
            () => null,
          );
          const come = await Promise.race([next, beat]);
          if (come === null && ends.signal.aborted) return;
          if (come === null) return controller.enqueue(encoder.encode(': still here\n\n'));
          next = null;
          if (ends.signal.aborted) return; // its reader has gone meanwhile
          if (come.done === true) controller.close();
          else controller.enqueue(encoder.encode(come.value));
        } catch (error) {
          if (ends.signal.aborted) return;
          onError(error);
          controller.close();
        } finally {
          over.abort();
        }
      },
      async cancel() {
        ends.abort();
        next?.catch(() => undefined);
        await messages.return().catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    },
  });
}
