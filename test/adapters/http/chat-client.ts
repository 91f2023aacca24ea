import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import type { Served } from '../../../adapters/http/serve.ts';

class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <Thing>(thing: Thing): Thing => structuredClone(thing);
}

/** A chat of the AI SDK without React: the same client that `useChat` drives. */
export class PlainChat extends AbstractChat<UIMessage> {
  constructor({ messages = [], ...init }: ChatInit<UIMessage>) {
    const state = new PlainState();
    state.messages = messages;
    super({ ...init, state });
  }

  /** Resolves once nothing is under way. */
  async settled(): Promise<void> {
    while (this.status === 'submitted' || this.status === 'streaming') {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** A chat as a page makes one, with nothing but its URL. */
export function chatAt(served: Served, init: ChatInit<UIMessage> = {}, as = 'tenant/user'): PlainChat {
  return new PlainChat({
    transport: new DefaultChatTransport({ api: `${served.url}/chat`, headers: { authorization: `Bearer ${as}` } }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    ...init,
  });
}

/** The parts of a message, one short line each. */
export function partsOf(message: UIMessage | undefined): string[] {
  return (message?.parts ?? []).map((part) => {
    if (part.type === 'text') return `text ${part.text}`;
    if ('toolCallId' in part) return `${part.type} ${part.state}`;
    return part.type;
  });
}
