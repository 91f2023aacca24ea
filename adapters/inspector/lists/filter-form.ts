import { SESSION_STATES } from '../../../machines/session-state.ts';
import { type Html, markup } from '../html.ts';
import { STATE_WORDS } from '../state-badge.ts';
import type { Visit } from '../visit.ts';
import { type Filters, isFiltered, WITHIN } from './filters.ts';

/** Search and filters, as one form that an address keeps. */
export function filterForm(visit: Visit, filters: Filters): Html {
  const { q, state, agent, user, tenant, within, asked, stranded } = filters;
  const { viewer, build } = visit;
  const agents = Object.keys(build?.agents ?? {});
  const states = SESSION_STATES.map((name) => option(name, STATE_WORDS[name].text, state === name));
  const times = Object.entries(WITHIN).map(([name, { text }]) => option(name, `Changed in ${text}`, within === name));
  return markup`<form class="card filters" method="get" action="${visit.link('/')}" role="search" aria-label="Sessions">
  <div class="search">
    <label class="unseen" for="q">Search sessions</label>
    <input class="field" id="q" name="q" type="search" value="${q}" maxlength="512" autocomplete="off" spellcheck="false" placeholder="Session, external id, user, execution, run, message, key, or name=value of metadata">
    <button class="button button-main" type="submit">Search</button>
  </div>
  <div class="filter-row">
    <label class="label">State<select class="field" name="state">${option('', 'Any state', state === null)}${states}</select></label>
    <label class="label">Time<select class="field" name="within">${option('', 'Any time', within === null)}${times}</select></label>
    <label class="label">Agent<input class="field" name="agent" value="${agent}" maxlength="64" autocomplete="off" list="agents" placeholder="Any agent"></label>
    ${viewer.userId == null ? markup`<label class="label">User<input class="field" name="user" value="${user}" maxlength="64" autocomplete="off" placeholder="Any user"></label>` : null}
    ${viewer.tenantId === null ? markup`<label class="label">Tenant<input class="field" name="tenant" value="${tenant}" maxlength="64" autocomplete="off" placeholder="All tenants"></label>` : null}
    <label class="check"><input type="checkbox" name="asked" value="1"${checked(asked)}> Needs a person</label>
    ${build === undefined ? null : markup`<label class="check"><input type="checkbox" name="stranded" value="1"${checked(stranded)}> Stranded</label>`}
    <button class="button" type="submit">Filter</button>
    ${isFiltered(filters) ? markup`<a class="button" href="${visit.link('/')}">Clear</a>` : null}
  </div>
  <datalist id="agents">${agents.map((name) => markup`<option value="${name}"></option>`)}</datalist>
</form>`;
}

function option(value: string, text: string, isChosen: boolean): Html {
  return isChosen
    ? markup`<option value="${value}" selected>${text}</option>`
    : markup`<option value="${value}">${text}</option>`;
}

function checked(isChecked: boolean): Html {
  return isChecked ? markup` checked` : markup``;
}
