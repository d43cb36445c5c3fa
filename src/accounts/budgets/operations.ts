import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfBody, refusalsOfPeople } from '../../platform/http/openapi.ts'
import type { ProblemCode } from '../../platform/problems.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of the budgets of an account. */
const reading: readonly ProblemCode[] = [...refusalsOfPeople, 'not_found']
const acting: readonly ProblemCode[] = [...reading, 'cross_site_request', 'recent_sign_in_required']
const writing: readonly ProblemCode[] = [...acting, ...refusalsOfBody, 'conflict']

const inBudgets = { tags: ['Budgets'], ...needsSession }
const account = Type.String({ description: 'The id of the account.' })
const params = Type.Object({ account })
const budgetParams = Type.Object({ account, budget: Type.String({ description: 'The id of the budget.' }) })

export const listBudgets = {
  ...inBudgets,
  operationId: 'listBudgets',
  summary: "List an account's budgets",
  description:
    'What keys share, and what requests with a tag may cost, with what is left. For partners, and for developers who were granted the ' +
    'account: without the values of tags.',
  params,
  response: { 200: answers(schema.budgetList, 'All budgets of the account.'), ...refusals(reading) },
}

export const createBudget = {
  ...inBudgets,
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      Type.String({
        description: 'A UUIDv7. A repeated request with the same key creates nothing and gets the budget as it is now.',
      }),
    ),
  }),
  operationId: 'createBudget',
  summary: 'Create a budget',
  description:
    'Of some keys or of a tag, in addition to the limits and the credit of the account and of each key. What was spent in the current ' +
    'period counts. Takes effect within a second; requests then in flight may still be charged. For partners.',
  params,
  body: schema.newBudgetBody,
  response: { 201: answers(schema.budgetShown, 'The budget.'), ...refusals(writing) },
}

export const changeBudget = {
  ...inBudgets,
  operationId: 'changeBudget',
  summary: 'Change a budget',
  description:
    'Fields missing from the body keep their values; `keys` replaces all keys. The tag, the period and the time zone do not change: create ' +
    'another budget. For partners.',
  params: budgetParams,
  body: schema.budgetChangeBody,
  response: { 200: answers(schema.budgetShown, 'The budget as it is now.'), ...refusals(writing) },
}

export const raiseBudget = {
  ...inBudgets,
  operationId: 'raiseBudget',
  summary: 'Raise a budget for a time',
  description: 'To the end of the current period, or until a time: then in each period until that time. For partners.',
  params: budgetParams,
  body: schema.raiseBody,
  response: { 200: answers(schema.budgetShown, 'The budget as it is now.'), ...refusals(writing) },
}

export const removeBudget = {
  ...inBudgets,
  operationId: 'removeBudget',
  summary: 'Remove a budget',
  description: 'What was spent stays in the ledger, and counts again if another budget is created. For partners.',
  params: budgetParams,
  response: { 204: { description: 'The budget is removed.', type: 'null' }, ...refusals(acting) },
}
