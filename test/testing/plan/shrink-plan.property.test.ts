import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plan } from '../../../testing/plan/plan.ts';
import { planArbitrary } from '../../../testing/plan/plan-arbitrary.ts';
import { shrinkPlan } from '../../../testing/plan/shrink-plan.ts';
import { describeProperties, runs } from '../../support/property.ts';

const calls = { refund: fc.record({ cents: fc.integer({ min: 0, max: 1_000 }) }) };
const plans = planArbitrary({ calls, sessions: 3, tenants: 2, faults: ['crash', 'stall'] });

const isMessage = ({ commands }: Plan) => commands.some(({ type }) => type === 'message');
const hasBoth = (plan: Plan) => isMessage(plan) && plan.commands.some(({ type }) => type === 'fault');

describeProperties('a plan that is shrunk', () => {
  test('still fails, is no longer than it was, and took no more than its tries', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        fc.pre(hasBoth(plan));
        let asked = 0;
        const shrunk = await shrinkPlan(plan, calls, async (one) => {
          asked += 1;
          return hasBoth(one);
        });
        expect(hasBoth(shrunk.plan)).toBe(true);
        expect(shrunk.plan.commands.length).toBeLessThanOrEqual(plan.commands.length);
        expect(shrunk.tries).toBe(asked);
        expect(asked).toBeLessThanOrEqual(120);
        if (asked < 120) expect(shrunk.plan.commands.map(({ type }) => type).sort()).toEqual(['fault', 'message']);
      }),
      runs(60),
    );
  });

  test('is as simple as the failure allows: one call in one reply, of the first session, in the order of arrival', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        fc.pre(isMessage(plan));
        const { plan: shortest, tries } = await shrinkPlan(plan, calls, async (one) => isMessage(one));
        fc.pre(tries < 120);
        expect(shortest).toEqual({
          ids: plan.ids,
          order: 0,
          commands: [
            { type: 'message', session: 1, process: 1, replies: [[{ tool: 'refund', params: { cents: 0 } }]] },
          ],
        });
      }),
      runs(60),
    );
  });

  test('stays as it is where nothing simpler fails, and no plan is tried twice', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const tried = new Set<string>();
        const { plan: same, tries } = await shrinkPlan(plan, calls, async (one) => {
          tried.add(JSON.stringify(one));
          return false;
        });
        expect(same).toEqual(plan);
        expect(tried.size).toBe(tries);
      }),
      runs(60),
    );
  });
});
