import { problems, type ProblemCode } from '../../src/platform/problems.ts'
import { renderHead, renderTable } from './table.ts'

const introduction = `
Every error response has an HTTP status and a JSON body:

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

\`code\` is for programs. Within \`/v1\` a code keeps its meaning and is never removed; new codes may be added. \`reason\` is
for people and may change. \`field\` is the path of the field at fault, such as \`metadata.client_id\`; \`limit\` is the limit
that was reached. \`request_id\` is also in the header \`request-id\` and in the log.

The \`x-should-retry\` header says whether the same request may succeed later, and \`Retry-After\` after how many seconds.
Status 402 is about money, 429 about pace. A refused request is never charged.
`

/** Renders `docs/errors.md` from the error table. Error bodies link to its headings. */
export function renderErrors(): string {
  const codes = Object.keys(problems).filter(isProblemCode)
  const rows = codes.map((code) => {
    const { status, retry, meaning } = problems[code]
    return [`[\`${code}\`](#${code})`, `${status}`, retry ? 'yes' : 'no', meaning]
  })
  const sections = codes.map((code) => {
    const { status, meaning, remedy } = problems[code]
    return `\n## ${code}\n\nStatus ${status}. ${meaning}\n\n${remedy}\n`
  })
  const table = renderTable(['Code', 'Status', 'Retry', 'Meaning'], rows)
  return [renderHead('Errors', 'src/platform/problem-table.ts'), introduction, '\n', table, ...sections].join('')
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code)
}
