package pg

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServersThatAreTooOldAreRefused(t *testing.T) {
	t.Parallel()
	for version, fine := range map[string]bool{
		"15.20 (Debian 15.20-0+deb12u1)": true, "15beta1": true, "18devel": true, "100.1": true, "15": true,
		"14.19": false, "9.6.24": false, "": false, "devel": false,
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			if err := checkServer(version); fine {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "Rotaloom needs 15 or newer")
			}
		})
	}
}
