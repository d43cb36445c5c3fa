-- What may be spent of a budget in the period of p_now: its amount, with what was added to it until a later time.
create or replace function budget_limit(p_budget budget, p_now timestamptz) returns numeric language sql immutable
return (p_budget).amount + case when (p_budget).raised_until > p_now then (p_budget).raised_by else 0 end;
