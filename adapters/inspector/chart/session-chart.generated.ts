// Laid out from the session machine by `npm run docs:chart`; a test lays it out anew and compares.
import type { ChartLayout } from './chart-layout.ts';

/** The session machine, laid out. */
export const SESSION_CHART: ChartLayout = {
  "width": 332,
  "height": 604,
  "stateWidth": 168,
  "stateHeight": 46,
  "states": [
    {
      "state": "IDLE",
      "x": 152,
      "y": 12,
      "loops": [
        "content.erased",
        "lease.released",
        "machine.upgraded",
        "memory.stored",
        "message.enqueued",
        "message.rejected",
        "session.forked",
        "tool.evidenced",
        "worker.tookOver"
      ]
    },
    {
      "state": "PLANNING",
      "x": 48,
      "y": 112,
      "loops": [
        "content.erased",
        "lease.released",
        "machine.upgraded",
        "memory.stored",
        "message.enqueued",
        "message.rejected",
        "model.attemptFailed",
        "model.calledTools",
        "tool.evidenced",
        "worker.tookOver"
      ]
    },
    {
      "state": "EXECUTING_TOOL",
      "x": 48,
      "y": 254,
      "loops": [
        "approval.amended",
        "approval.denied",
        "approval.granted",
        "approval.superseded",
        "content.erased",
        "execution.held",
        "execution.refused",
        "execution.settledByPerson",
        "execution.started",
        "lease.released",
        "machine.upgraded",
        "memory.stored",
        "message.enqueued",
        "message.rejected",
        "tool.attemptFailed",
        "tool.evidenced",
        "tool.outcomeUnknown",
        "tool.settled",
        "worker.tookOver"
      ]
    },
    {
      "state": "AWAITING_INPUT",
      "x": 78,
      "y": 354,
      "loops": [
        "approval.amended",
        "approval.denied",
        "approval.granted",
        "approval.superseded",
        "content.erased",
        "execution.held",
        "execution.settledByPerson",
        "input.expired",
        "lease.released",
        "machine.upgraded",
        "memory.stored",
        "message.enqueued",
        "message.rejected",
        "tool.evidenced",
        "user.messaged",
        "worker.tookOver"
      ]
    },
    {
      "state": "FAILED",
      "x": 108,
      "y": 454,
      "loops": [
        "content.erased",
        "lease.released",
        "machine.upgraded",
        "memory.stored",
        "message.enqueued",
        "message.rejected",
        "tool.evidenced",
        "worker.tookOver"
      ]
    },
    {
      "state": "COMPLETED",
      "x": 108,
      "y": 546,
      "loops": []
    }
  ],
  "edges": [
    {
      "from": "IDLE",
      "to": "PLANNING",
      "on": [
        "user.messaged"
      ],
      "path": "M180 58L180 71Q180 78 173 78L111 78Q104 78 104 85L104 104",
      "head": "M104 112L99.5 104L108.5 104Z"
    },
    {
      "from": "IDLE",
      "to": "COMPLETED",
      "on": [
        "session.completed"
      ],
      "path": "M292 58L292 76Q292 78 294 78L294 78Q296 78 296 80L296 513Q296 520 289 520L241 520Q234 520 234 527L234 538",
      "head": "M234 546L229.5 538L238.5 538Z"
    },
    {
      "from": "PLANNING",
      "to": "EXECUTING_TOOL",
      "on": [
        "model.calledTools"
      ],
      "path": "M111 158L111 199Q111 206 104 206L97 206Q90 206 90 213L90 246",
      "head": "M90 254L85.5 246L94.5 246Z"
    },
    {
      "from": "PLANNING",
      "to": "AWAITING_INPUT",
      "on": [
        "model.calledTools"
      ],
      "path": "M90 158L90 185Q90 192 83 192L34 192Q27 192 27 199L27 327Q27 334 34 334L100 334Q106 334 106 340L106 346",
      "head": "M106 354L101.5 346L110.5 346Z"
    },
    {
      "from": "PLANNING",
      "to": "COMPLETED",
      "on": [
        "model.replied"
      ],
      "path": "M69 158L69 171Q69 178 62 178L19 178Q12 178 12 185L12 513Q12 520 19 520L143 520Q150 520 150 527L150 538",
      "head": "M150 546L145.5 538L154.5 538Z"
    },
    {
      "from": "PLANNING",
      "to": "IDLE",
      "on": [
        "model.replied",
        "run.cancelled"
      ],
      "path": "M160 112L160 99Q160 92 167 92L201 92Q208 92 208 85L208 66",
      "head": "M208 58L212.5 66L203.5 66Z"
    },
    {
      "from": "PLANNING",
      "to": "FAILED",
      "on": [
        "limit.met",
        "model.failed"
      ],
      "path": "M174 158L174 199Q174 206 181 206L259 206Q266 206 266 213L266 413Q266 420 259 420L216 420Q209 420 209 427L209 446",
      "head": "M209 454L204.5 446L213.5 446Z"
    },
    {
      "from": "EXECUTING_TOOL",
      "to": "AWAITING_INPUT",
      "on": [
        "execution.held",
        "tool.evidenced",
        "tool.outcomeUnknown",
        "tool.settled"
      ],
      "path": "M132 300L132 319Q132 320 133 320L133 320Q134 320 134 321L134 346",
      "head": "M134 354L129.5 346L138.5 346Z"
    },
    {
      "from": "EXECUTING_TOOL",
      "to": "PLANNING",
      "on": [
        "execution.refused",
        "execution.settledByPerson",
        "tool.evidenced",
        "tool.settled"
      ],
      "path": "M132 254L132 166",
      "head": "M132 158L136.5 166L127.5 166Z"
    },
    {
      "from": "EXECUTING_TOOL",
      "to": "FAILED",
      "on": [
        "limit.met"
      ],
      "path": "M90 300L90 313Q90 320 83 320L64 320Q57 320 57 327L57 413Q57 420 64 420L135 420Q142 420 142 427L142 446",
      "head": "M142 454L137.5 446L146.5 446Z"
    },
    {
      "from": "EXECUTING_TOOL",
      "to": "IDLE",
      "on": [
        "run.cancelled"
      ],
      "path": "M174 254L174 227Q174 220 181 220L229 220Q236 220 236 213L236 66",
      "head": "M236 58L240.5 66L231.5 66Z"
    },
    {
      "from": "AWAITING_INPUT",
      "to": "PLANNING",
      "on": [
        "approval.denied",
        "approval.superseded",
        "execution.settledByPerson",
        "input.expired",
        "tool.evidenced",
        "user.messaged"
      ],
      "path": "M190 354L190 327Q190 320 197 320L229 320Q236 320 236 313L236 241Q236 234 229 234L160 234Q153 234 153 227L153 166",
      "head": "M153 158L157.5 166L148.5 166Z"
    },
    {
      "from": "AWAITING_INPUT",
      "to": "EXECUTING_TOOL",
      "on": [
        "approval.amended",
        "approval.denied",
        "approval.granted",
        "approval.superseded",
        "execution.settledByPerson",
        "input.expired",
        "tool.evidenced",
        "user.messaged"
      ],
      "path": "M162 354L162 326Q162 320 168 320L168 320Q174 320 174 314L174 308",
      "head": "M174 300L178.5 308L169.5 308Z"
    },
    {
      "from": "AWAITING_INPUT",
      "to": "FAILED",
      "on": [
        "input.expired"
      ],
      "path": "M162 400L162 413.5Q162 420 168.5 420L168.5 420Q175 420 175 426.5L175 446",
      "head": "M175 454L170.5 446L179.5 446Z"
    },
    {
      "from": "AWAITING_INPUT",
      "to": "IDLE",
      "on": [
        "run.cancelled"
      ],
      "path": "M218 354L218 341Q218 334 225 334L244 334Q251 334 251 327L251 198.5Q251 192 257.5 192L257.5 192Q264 192 264 185.5L264 66",
      "head": "M264 58L268.5 66L259.5 66Z"
    },
    {
      "from": "FAILED",
      "to": "PLANNING",
      "on": [
        "session.retried"
      ],
      "path": "M242 454L242 441Q242 434 249 434L274 434Q281 434 281 427L281 185Q281 178 274 178L201 178Q195 178 195 172L195 166",
      "head": "M195 158L199.5 166L190.5 166Z"
    },
    {
      "from": "FAILED",
      "to": "COMPLETED",
      "on": [
        "session.completed"
      ],
      "path": "M192 500L192 538",
      "head": "M192 546L187.5 538L196.5 538Z"
    }
  ]
};
