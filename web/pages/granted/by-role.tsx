import { useRole } from '../../components/role.ts'
import { AccountPage } from '../account/account.tsx'
import { AccountsPage } from '../accounts/accounts.tsx'
import { GrantedAccountPage } from './account.tsx'
import { GrantedAccountsPage } from './accounts.tsx'

/** All accounts for partners, and those that a developer was granted. */
export function AccountsByRole() {
  return useRole() === 'developer' ? <GrantedAccountsPage /> : <AccountsPage />
}

export function AccountByRole() {
  return useRole() === 'developer' ? <GrantedAccountPage /> : <AccountPage />
}
