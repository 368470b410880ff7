package person

import (
	"github.com/rotaloom/rotaloom/services/commons/internal/person/newhire"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/wageworkrule"
)

// NewHires returns a server of NewHireService that uses the same persons.
func (h *Handler) NewHires() *newhire.Handler { return newhire.New(h.pool, h.reader, h.writer) }

// WageWorkRules returns a server of WageWorkRuleService that uses the same persons.
func (h *Handler) WageWorkRules() *wageworkrule.Handler {
	return wageworkrule.New(h.pool, h.reader, h.writer)
}
