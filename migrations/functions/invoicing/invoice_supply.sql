-- What a draft would state: the days that it states itself; or its month; or those of the invoice that it credits; or those of the
-- entries and the letters that its lines bill. Null if it bills none.
create or replace function invoice_supply(p_invoice invoice) returns table (first_day date, last_day date)
language sql stable set search_path from current as $$
  select v.first_day, v.last_day
  from (select coalesce(p_invoice.credits_id, p_invoice.id) as id) subject
    left join invoice o on o.id = p_invoice.credits_id
    cross join lateral (
      select min(coalesce(t.date, e.date, l.month)) as first_day, max(coalesce(t.date, e.date, last_day(l.month))) as last_day
      from invoice_line l left join time_entry t on t.id = l.entry_id left join expense e on e.id = l.entry_id
      where l.invoice_id = subject.id) billed
    cross join lateral (values
      (1, p_invoice.supply_from, p_invoice.supply_to), (2, p_invoice.month, last_day(p_invoice.month)),
      (3, o.supply_from, o.supply_to), (4, o.month, last_day(o.month)), (5, billed.first_day, billed.last_day),
      (6, o.issued_on, o.issued_on)) v (place, first_day, last_day)
  where v.first_day is not null order by v.place limit 1
$$;
