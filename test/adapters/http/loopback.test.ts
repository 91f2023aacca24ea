import { describe, expect, it } from 'vitest';
import { isLoopbackName, isOriginAllowed, isSentToLoopback } from '../../../adapters/http/loopback.ts';

describe('loopback', () => {
  it.each(['localhost', 'LOCALHOST', 'app.localhost', '127.0.0.1', '127.9.9.9', '::1', '[::1]'])('%s is', (name) => {
    expect(isLoopbackName(name)).toBe(true);
  });

  it.each(['', '0.0.0.0', '::', '10.0.0.1', 'evil.test', 'localhost.evil.test', '127.0.0.1.evil.test', '1270.0.0.1'])(
    '%s is not',
    (name) => {
      expect(isLoopbackName(name)).toBe(false);
    },
  );
});

describe('a request', () => {
  const asked = (url: string, headers: Record<string, string> = {}) => new Request(url, { headers });

  it('is sent to loopback where URL and Host say so', () => {
    expect(isSentToLoopback(asked('http://127.0.0.1:3000/'))).toBe(true);
    expect(isSentToLoopback(asked('http://127.0.0.1/', { host: 'localhost:3000' }))).toBe(true);
    expect(isSentToLoopback(asked('http://[::1]:3000/', { host: '[::1]:3000' }))).toBe(true);
  });

  it('of a page whose name was bound to this machine is not', () => {
    expect(isSentToLoopback(asked('http://rebound.test:3000/'))).toBe(false);
    expect(isSentToLoopback(asked('http://127.0.0.1/', { host: 'rebound.test:3000' }))).toBe(false);
  });
});

describe('a request that changes something', () => {
  const write = (headers: Record<string, string>) =>
    new Request('http://localhost:3000/sessions', { method: 'POST', headers });

  it('passes from a program and from a page of the same origin', () => {
    expect(isOriginAllowed(write({}))).toBe(true);
    expect(isOriginAllowed(write({ origin: 'http://localhost:3000' }))).toBe(true);
    expect(isOriginAllowed(write({ origin: 'https://app.test', host: 'app.test' }))).toBe(true);
    expect(isOriginAllowed(write({ origin: 'http://x.test', 'sec-fetch-site': 'same-origin' }))).toBe(true);
  });

  it.each([
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { origin: 'http://localhost:4000' },
    { origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' },
    { origin: 'http://localhost:4000', 'sec-fetch-site': 'same-site' },
  ])('does not pass from a page of another: %o', (headers) => {
    expect(isOriginAllowed(write(headers as Record<string, string>))).toBe(false);
  });

  it('passes from an origin that is named', () => {
    const foreign = { origin: 'https://app.test', 'sec-fetch-site': 'cross-site' };
    expect(isOriginAllowed(write(foreign), ['https://app.test'])).toBe(true);
    expect(isOriginAllowed(write(foreign), ['https://app.test.evil'])).toBe(false);
  });

  it('is none where it only reads', () => {
    expect(isOriginAllowed(new Request('http://localhost/', { headers: { origin: 'https://evil.test' } }))).toBe(true);
  });
});
