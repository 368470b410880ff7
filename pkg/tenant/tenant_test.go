package tenant_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

func TestScope(t *testing.T) {
	t.Parallel()
	none := context.Background()

	for name, c := range map[string]struct {
		ctx context.Context
		id  int64
		ok  bool
		all bool
	}{
		"a context nobody filled has no tenant": {ctx: none},
		"one tenant":                            {ctx: tenant.With(none, 7), id: 7, ok: true},
		"all tenants are not one":               {ctx: tenant.All(none), all: true},
		"zero takes the tenant away":            {ctx: tenant.With(tenant.With(none, 7), 0)},
		"a negative id takes the tenant away":   {ctx: tenant.With(tenant.With(none, 7), -7)},
		"the inner one wins over all":           {ctx: tenant.With(tenant.All(none), 7), id: 7, ok: true},
		"the inner all wins over one":           {ctx: tenant.All(tenant.With(none, 7)), all: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, ok := tenant.From(c.ctx)
			assert.Equal(t, c.id, id)
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.all, tenant.IsAll(c.ctx))

			assert.Equal(t, c.id, tenant.Of(c.ctx), "0 without a tenant")
		})
	}
}
