-- A budget at p_now: if its period has ended since it was written, or has not begun because the clock was set back, the sum begins anew. It is
-- read only if something was charged since then, as after the clock was set back: callers have locked the account.
create or replace function current_budget(p_budget budget, p_now timestamptz) returns budget
language plpgsql stable
set search_path from current
as $$
begin
  if p_now < p_budget.began_at or p_now >= p_budget.ends_at then
    select p.began_at, p.ends_at into p_budget.began_at, p_budget.ends_at
      from budget_period(p_budget.period, p_budget.time_zone, p_now) p;
    p_budget.charged := case when p_budget.last_charged_at >= p_budget.began_at then budget_charged(p_budget, p_budget.began_at) else 0 end;
  end if;
  return p_budget;
end $$;
