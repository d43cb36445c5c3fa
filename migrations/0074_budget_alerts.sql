-- Alerts also watch the budgets of their account.
alter table alert
  -- The budget that it is about, and its name then. Null: it is about the account.
  add column budget_id uuid,
  add column budget    label;
