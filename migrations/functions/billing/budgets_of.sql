-- The budgets that requests of this account with this key and these tags count in. Its callers set how it is planned: a setting of its own would
-- take longer than the function.
create or replace function budgets_of(p_account uuid, p_key uuid, p_tags jsonb) returns setof uuid
language plpgsql stable rows 2
set search_path from current
as $$
begin
  return query select k.budget_id from budget_key k where k.key_id = p_key;
  if p_tags is not null then
    return query select b.id from jsonb_each_text(p_tags) t
      join budget b on b.account_id = p_account and b.tag_name = t.key and b.tag_value = t.value;
  end if;
end $$;
