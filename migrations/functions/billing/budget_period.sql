-- The period of a budget at p_now. Days and weeks, which begin on Monday, have the length that the clock of the time zone gives them.
create or replace function budget_period(p_period text, p_time_zone text, p_now timestamptz, out began_at timestamptz, out ends_at timestamptz)
language plpgsql stable
set search_path from current
as $$
declare
  v_first timestamp;
begin
  if p_period = 'total' then
    began_at := '-infinity';
    ends_at := 'infinity';
  else
    v_first := date_trunc(p_period, p_now at time zone p_time_zone);
    began_at := v_first at time zone p_time_zone;
    ends_at := (v_first + ('1 ' || p_period)::interval) at time zone p_time_zone;
  end if;
end $$;
