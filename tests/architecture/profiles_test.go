package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lastProfileMigration is the last migration of auth with permissions of default access profiles.
const lastProfileMigration = "0023_default_access_profiles.sql"

var changesProfiles = regexp.MustCompile(`(?i)add_access_profiles|\b(?:INSERT\s+INTO|UPDATE)\s+(?:default_)?access_profile\b`)

// Default access profiles have one place, services/auth/internal/profile/defaults.go. Migrations do not copy them.
func TestMigrationsDoNotCopyAccessProfiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("..", "..", "services", "auth", "migrations", "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		if filepath.Base(path) <= lastProfileMigration {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.False(t, changesProfiles.Match(text), "%s: change services/auth/internal/profile/defaults.go instead", path)
	}
}
