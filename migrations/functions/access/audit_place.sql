-- The number of the first row of the audit log at or after a time. Numbers grow with time, so a binary search finds the
-- row without an index on the time. Callers allow an hour on each side for clocks that were set back.
create or replace function audit_place(p_at timestamptz) returns bigint language plpgsql stable set search_path from current as $$
declare
  v_low bigint;
  v_high bigint;
  v_middle bigint;
  v_id bigint;
  v_at timestamptz;
begin
  select coalesce(min(id), 1), coalesce(max(id), 0) + 1 into v_low, v_high from audit;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select id, at into v_id, v_at from audit where id >= v_middle order by id limit 1;
    if v_at >= p_at then v_high := v_middle; else v_low := v_id + 1; end if;
  end loop;
  return v_low;
end $$;
