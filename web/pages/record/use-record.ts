import { useRouteLoaderData } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'

/** The record that the page is about. */
export function useRecord(): ClientRecord {
  const record = useRouteLoaderData<ClientRecord>('record')
  if (!record) throw new Error('this is no page of a record')
  return record
}
