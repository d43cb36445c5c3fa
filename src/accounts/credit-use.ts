/** SQL: what an account was charged in this month, in UTC. */
export const monthCharged = `case when month = date_trunc('month', now() at time zone 'UTC')::date then month_charged else 0 end`

/**
 * SQL that joins `account` with its credit: `whole`, its monthly limit or its balance when it was last changed, as for alerts;
 * `"creditLeft"`, what new requests may cost; and `"usedPercent"`, from 0 to 100, rounded down, null if `whole` is zero.
 */
export const joinCreditUse = `
  cross join lateral (select greatest(0, coalesce(monthly_limit, credited - charged_at_credit)) as whole,
    greatest(0, coalesce(monthly_limit - ${monthCharged}, credited - charged) - held)::amount as "creditLeft") as credit
  cross join lateral (select case when whole > 0 then greatest(0, floor(100 * (whole - "creditLeft") / whole)) end::int as "usedPercent") as credit_use`
