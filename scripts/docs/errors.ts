import { problems, type ProblemCode } from '../../src/platform/problems.ts'
import { advice } from './advice.ts'
import { renderHead, renderTable } from './table.ts'

const introduction = `
Every refusal and every fault of the API has an HTTP status and a JSON body:

\`\`\`json
{
  "error": {
    "code": "rate_limit_exceeded",
    "reason": "The account has used up its requests per minute. Retry in 1 s.",
    "limit": { "name": "requests_per_minute", "value": 60, "remaining": 0 },
    "request_id": "01981c6e-3a5b-7c1d-9e2f-4b6a8c0d1e2f",
    "docs": "https://tollgate.example.com/docs/errors#rate_limit_exceeded"
  }
}
\`\`\`

\`code\` is one of those below and is meant for programs: within \`/v1\` a code never changes its meaning and none goes away,
but new ones may come. \`reason\` is meant for people and may change. \`field\` is there when one field of the request is at
fault, as a path such as \`metadata.client_id\`; \`limit\` when a limit was met. \`request_id\` is also in the header
\`request-id\` and in the log.

The header \`x-should-retry\` says whether the same request may succeed later. \`Retry-After\` says after how many seconds. A
status of 402 is about money, 429 about pace; nothing that was refused is charged.
`

/** `docs/errors.md`, from the one error table. Error bodies link to its headings. */
export function renderErrors(): string {
  const codes = Object.keys(problems).filter(isProblemCode)
  const rows = codes.map((code) => {
    const { status, retry, meaning } = problems[code]
    return [`[\`${code}\`](#${code})`, `${status}`, retry ? 'yes' : 'no', meaning]
  })
  const sections = codes.map((code) => {
    const { status, meaning } = problems[code]
    return `\n## ${code}\n\nStatus ${status}. ${meaning}\n\n${advice[code]}\n`
  })
  const table = renderTable(['Code', 'Status', 'Retry', 'Meaning'], rows)
  return [renderHead('Errors', 'src/platform/problems.ts'), introduction, '\n', table, ...sections].join('')
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code)
}
