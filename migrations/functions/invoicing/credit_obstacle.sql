-- Why the draft of a credit note cannot be issued, or null. exceeds: more of a line than earlier credit notes left.
-- credited_since: its amounts were rounded after other credit notes than those that are issued now.
create or replace function credit_obstacle(p_draft invoice) returns text
language plpgsql stable set search_path from current as $$
declare
  v_unit constant numeric := power(10::numeric, 12 - p_draft.decimals)::numeric(38, 0);
  v_more boolean;
  v_other boolean;
begin
  select bool_or(o.position is null or l.quantity > o.quantity),
      bool_or(l.net <> half_even(l.quantity * o.unit_price, price_base(o.unit) * v_unit) * v_unit) into v_more, v_other
    from (select l.credits_position as position, sum(l.quantity) as quantity, sum(l.net) as net
      from invoice c join invoice_line l on l.invoice_id = c.id
      where c.credits_id = p_draft.credits_id and (c.state = 'issued' or c.id = p_draft.id) group by 1) l
    left join invoice_line o on o.invoice_id = p_draft.credits_id and o.position = l.position;
  if v_more then return 'exceeds'; end if;
  if v_other or exists (
    select from invoice c cross join lateral jsonb_to_recordset(c.taxes) as t(category text, rate numeric, net numeric, tax numeric)
    where c.credits_id = p_draft.credits_id and (c.state = 'issued' or c.id = p_draft.id) group by t.category, t.rate
    having sum(t.tax) <> half_even(sum(t.net) * t.rate, 10000 * v_unit) * v_unit) then return 'credited_since'; end if;
  return null;
end $$;
