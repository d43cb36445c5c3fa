/** @jsxImportSource preact */
import { EnrolPage } from './enrol.tsx'
import { FactorPage } from './factor.tsx'
import { InvitationPage } from './invitation.tsx'
import { LinkPage } from './link.tsx'
import { MethodsPage } from './methods.tsx'
import { ResetPage } from './reset.tsx'
import { page } from './wire.ts'

/** Everything under /signin. */
export function App() {
  if (location.pathname === '/signin/link') return <LinkPage />
  if (location.pathname === '/signin/reset') return <ResetPage />
  if (location.pathname === '/signin/invitation') return <InvitationPage />
  if (page.second_factors) return <FactorPage factors={page.second_factors} />
  if (page.enrol) return <EnrolPage factors={page.enrol} />
  return <MethodsPage />
}
