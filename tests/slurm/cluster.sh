#!/usr/bin/env bash
# A Slurm cluster of one node with two CPUs on this machine, as processes of whoever calls, without systemd or accounting.
#   tests/slurm/cluster.sh up DIR      start it; everything that it writes is in DIR. Started already: nothing
#   tests/slurm/cluster.sh down DIR    end its jobs and its processes, and remove DIR. Not there: nothing
# Between the two, clients need SLURM_CONF=DIR/slurm.conf and DIR/bin before the rest of PATH.
# Exits with 77 where there is no Slurm and none can be installed (that takes root and Debian's or Ubuntu's packages).
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin  # where Debian has the daemons
MARK=.cluster.sh  # only a folder with this file is ever removed
NEEDED="munged slurmctld slurmd sbatch srun squeue scancel scontrol"

say() { echo "cluster.sh: $*" >&2; }

missing() { for program in $NEEDED; do command -v "$program" >/dev/null || echo "$program"; done; }

install_slurm() {
    [ -z "$(missing)" ] && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "installing slurmctld, slurmd, slurm-client and munge"
        # RUNLEVEL=1: none of them is to start by itself
        { apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq --no-install-recommends slurmctld slurmd slurm-client munge; } >"$dir/install.log" 2>&1 \
            || tail -n 5 "$dir/install.log" >&2
    fi
    local gone
    gone=$(missing)
    if [ -n "$gone" ]; then
        say "no Slurm here (${gone//$'\n'/, }), and it cannot be installed: that takes root and the packages slurm-wlm and munge"
        rm -r "$dir"
        exit 77
    fi
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

running() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }

up() {
    mkdir -p "$dir"
    if [ ! -e "$dir/$MARK" ]; then
        [ -z "$(ls -A "$dir")" ] || { say "$dir is not empty; give it a folder of its own"; exit 2; }
        touch "$dir/$MARK"
    fi
    if running "$dir/munged.pid" && running "$dir/slurmctld.pid" && running "$dir/slurmd.pid"; then return; fi
    stop
    install_slurm
    mkdir -p "$dir/state" "$dir/spool" "$dir/bin"
    chmod 755 "$dir"
    local user host srun
    user=$(id -un) host=$(hostname -s)
    (umask 077; [ -s "$dir/munge.key" ] || head -c 1024 /dev/urandom >"$dir/munge.key")
    # The plugin's jobs start srun without SLURM_CONF, which it takes out of their environment.
    srun=$(PATH=${PATH//"$dir/bin:"/} command -v srun)
    printf '#!/bin/sh\nSLURM_CONF=%q exec %q "$@"\n' "$dir/slurm.conf" "$srun" >"$dir/bin/srun"
    chmod +x "$dir/bin/srun"
    cat >"$dir/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
AccountingStorageType=accounting_storage/none
# the tests ask for jobs that have long ended
MinJobAge=7200
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
# a job that takes more memory than it asked for is killed
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
ReturnToService=2
# two CPUs and 8 GB whatever the machine has
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
    munged --socket="$dir/munge.socket" --key-file="$dir/munge.key" --pid-file="$dir/munged.pid" \
        --log-file="$dir/munged.log" --seed-file="$dir/munged.seed"
    slurmctld -f "$dir/slurm.conf"
    slurmd -f "$dir/slurm.conf"
    for _ in $(seq 60); do
        if [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ]; then
            say "Slurm $(slurmd -V | cut -d' ' -f2) is up, two CPUs"
            return
        fi
        sleep 0.5
    done
    say "the node did not come up in 30 seconds:"
    tail -n 20 "$dir"/munged.log "$dir"/slurmctld.log "$dir"/slurmd.log >&2
    stop
    exit 1
}

stop() {
    local name pid
    if running "$dir/slurmctld.pid"; then
        timeout 10 scancel --user="$(id -un)" --full 2>/dev/null || true
        for _ in $(seq 40); do
            [ -z "$(timeout 10 squeue --noheader 2>/dev/null)" ] && break
            sleep 0.5
        done
    fi
    for name in slurmd slurmctld munged; do
        running "$dir/$name.pid" || continue
        pid=$(cat "$dir/$name.pid")
        kill "$pid"
        for _ in $(seq 40); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.25
        done
        kill -9 "$pid" 2>/dev/null || true
    done
}

[ $# = 2 ] || { say "usage: $0 up|down DIR"; exit 2; }
mkdir -p "$(dirname "$2")"
dir=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
export SLURM_CONF=$dir/slurm.conf
case $1 in
    up) up ;;
    down)
        [ -d "$dir" ] || exit 0
        [ -e "$dir/$MARK" ] || { say "$dir is none of its folders"; exit 2; }
        stop
        rm -r "$dir"
        ;;
    *) say "usage: $0 up|down DIR"; exit 2 ;;
esac
