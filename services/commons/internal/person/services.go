package person

// NewHires returns the server of NewHireService over the same persons.
func (h *Handler) NewHires() *NewHires { return newNewHires(h.pool, h.reader, h.writer) }

// WageWorkRules returns the server of WageWorkRuleService over the same persons.
func (h *Handler) WageWorkRules() *WageWorkRules {
	return newWageWorkRules(h.pool, h.reader, h.writer)
}
