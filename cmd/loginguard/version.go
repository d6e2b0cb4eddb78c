package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say what this is",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(p.stdout, "loginguard", version(info), goVersion(info))
			return err
		},
	}
}

// version names the build: the module's version or, for a build from a working
// copy, the commit. Nil means that the binary carries no build information.
func version(info *debug.BuildInfo) string {
	if info == nil {
		return "(unknown)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "(devel)"
}

func goVersion(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	return info.GoVersion
}
