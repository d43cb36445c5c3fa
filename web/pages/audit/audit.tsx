import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useLoaderData, useSearchParams } from 'react-router'
import type { AuditList } from '../../../src/clients/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { More } from '../../components/more.tsx'
import { Page } from '../../components/page.tsx'
import { auditAddress } from './address.ts'
import { AuditFilters } from './filters.tsx'
import { AuditTable } from './table.tsx'
import { ProofAlert, useVerification, VerifyButton } from './verification.tsx'

/** The audit log with filters and export; for partners. Views are hidden by default. */
export function AuditPage() {
  const list = useLoaderData<AuditList>()
  const [parameters] = useSearchParams()
  const address = auditAddress(parameters)
  const { proof, close, ...verification } = useVerification()
  return (
    <Page
      title="Audit log"
      actions={
        <>
          <VerifyButton {...verification} />
          <Button
            component="a"
            variant="default"
            leftSection={<IconDownload size={15} />}
            href={`${address}&format=csv`}
            download="audit.csv"
          >
            Export CSV
          </Button>
        </>
      }
    >
      {proof && <ProofAlert proof={proof} onClose={close} />}
      <AuditFilters rows={list.audit} />
      <More
        first={list.audit}
        next={list.next}
        pick={(page: AuditList) => page.audit}
        idOf={({ id }) => id}
        address={address}
      >
        {(rows) => (rows.length === 0 ? <Empty title="Nothing matches" /> : <AuditTable rows={rows} />)}
      </More>
    </Page>
  )
}
