import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { EmailLink } from '../../components/email-link.tsx'
import { Initials } from '../../components/initials.tsx'
import { Ago } from '../../components/time.tsx'
import { counted, invoiceLanguageNames } from '../../words.ts'
import classes from './properties.module.css'

/** The client's own fields. */
export function PropertyList({ record }: { readonly record: ClientRecord }) {
  return (
    <dl className={classes.list}>
      <Property name="Consultant">
        <span className={classes.person}>
          <Initials name={record.consultant.name} />
          {record.consultant.name}
        </span>
      </Property>
      <Property name="Reference">{record.reference ?? <None />}</Property>
      <Property name="Email">{record.email === null ? <None /> : <EmailLink email={record.email} />}</Property>
      <Property name="Address">
        {record.address === null ? <None /> : <span className={classes.lines}>{record.address}</span>}
      </Property>
      <Property name="Created" isMinor>
        <Ago time={record.created_at} />
      </Property>
      <Property name="Changed" isMinor>
        <Ago time={record.changed_at} />
      </Property>
      <Property name="Version" isMinor>
        <Link
          to={`/clients/${record.id}/revisions`}
          aria-label={`Version ${record.version} of the client`}
          preventScrollReset
        >
          {record.version}
        </Link>
        <span className={classes.since}>
          <Ago time={record.updated_at} />
        </span>
      </Property>
    </dl>
  )
}

/** The billing details that the client has: most have few. */
export function Billing({ record }: { readonly record: ClientRecord }) {
  const { billing_street: street, billing_extra: extra, billing_postcode: postcode } = record
  const { billing_city: city, billing_country: country, days_to_pay: days, billing_language: language } = record
  const town = [city, postcode].filter(Boolean).join(', ')
  const details = [
    ['VAT number', record.vat_number],
    ['Address', [street, extra, town, country].filter(Boolean).join('\n')],
    ['Reference', record.buyer_reference],
    ['Order', record.order_number],
    ['Language', language === null ? null : invoiceLanguageNames[language]],
    ['To pay', days === null ? null : `within ${counted(days, 'day', 'days')}`],
  ] as const
  const known = details.filter(([, value]) => value)
  if (known.length === 0) return <p className={classes.none}>None: invoices have the name and address above.</p>
  return (
    <dl className={classes.list}>
      {known.map(([name, value]) => (
        <Property key={name} name={name}>
          <span className={classes.lines}>{value}</span>
        </Property>
      ))}
    </dl>
  )
}

interface PropertyProps {
  readonly name: string
  /** Hidden on small screens. */
  readonly isMinor?: boolean
  readonly children: ReactNode
}

function Property({ name, isMinor = false, children }: PropertyProps) {
  return (
    <div className={classes.property} data-minor={isMinor || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function None() {
  return <span className={classes.none}>None</span>
}
