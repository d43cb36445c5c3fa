import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementsIn } from './logged-statements.ts'

const log = `2026-11-30 10:00:00.000 UTC [7] LOG:  duration: 0.012 ms  parse one: select $1, $2
2026-11-30 10:00:00.001 UTC [7] LOG:  duration: 0.010 ms  bind one: select $1, $2
2026-11-30 10:00:00.001 UTC [7] DETAIL:  Parameters: $1 = 'not this one'
2026-11-30 10:00:00.002 UTC [7] LOG:  duration: 0.100 ms  execute one: select $1,
\t$2
2026-11-30 10:00:00.002 UTC [8] LOG:  duration: 0.010 ms  execute <unnamed>: select now()
2026-11-30 10:00:00.002 UTC [7] DETAIL:  Parameters: $1 = 'it''s, $2 = ''x''', $2 = NULL
2026-11-30 10:00:00.003 UTC [8] LOG:  checkpoint starting: time
`

test('the executed statements of a log are read with their parameters', () => {
  assert.deepEqual(statementsIn(log), [
    { backend: '7', text: 'select $1,\n\t$2', parameters: ["it's, $2 = 'x'", null] },
    { backend: '8', text: 'select now()', parameters: [] },
  ])
})
